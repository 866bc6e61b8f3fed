// Gives every block of code a button that copies it, where the browser lets a page do so.
const copied = (button) => {
  button.textContent = "Copied";
  setTimeout(() => {
    button.textContent = "Copy";
  }, 1500);
};

for (const figure of navigator.clipboard ? document.querySelectorAll("figure.code") : []) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", () => {
    const text = figure.querySelector("code").textContent;
    navigator.clipboard.writeText(text).then(
      () => copied(button),
      // Not allowed after all: the text is there to be marked by hand.
      () => button.remove(),
    );
  });
  figure.querySelector("figcaption").append(button);
}
