import { Center, Container, Loader, MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { lazy, Suspense, useEffect } from "react";
import { Router, useLocation } from "wouter";
import { ApiError } from "./api.ts";
import { BASE_PATH, styleNonce } from "./base.ts";
import { t } from "./i18n/t.ts";
import { whenFound } from "./connection.ts";
import { ErrorState } from "./parts/error-state.tsx";
import { SessionProvider, useSessionQuery } from "./session.tsx";
import { cssVariables, theme } from "./theme.ts";

const Invitation = lazy(() => import("./pages/invitation.tsx"));
const Login = lazy(() => import("./pages/login.tsx"));
const NewPassword = lazy(() => import("./pages/new-password.tsx"));
const Shell = lazy(() => import("./shell.tsx"));

const RETRIES = 2;

const isFinal = ({ status, code }: ApiError): boolean => (status > 0 && status < 500) || code === "QUERY_TIMED_OUT";

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5000,
      // The server would refuse a refused request again, and a search would take its whole time again.
      retry: (count, error) => count < RETRIES && !(error instanceof ApiError && isFinal(error)),
    },
  },
});

/** The root component: theme, query cache, login, and the shell with the pages. */
export const App = () => (
  <MantineProvider
    theme={theme}
    cssVariablesResolver={cssVariables}
    defaultColorScheme="auto"
    getStyleNonce={styleNonce}
    deduplicateInlineStyles
  >
    <QueryClientProvider client={client}>
      <Router base={BASE_PATH.replace(/\/$/, "")}>
        <Suspense fallback={<Waiting />}>
          <Gate />
        </Suspense>
      </Router>
    </QueryClientProvider>
  </MantineProvider>
);

function Gate() {
  const { session, error, retry } = useSessionQuery();
  const [path] = useLocation();
  // Data that failed or became stale during an outage is read again.
  useEffect(() => whenFound(() => void client.invalidateQueries()), []);
  if (error)
    return (
      <Container size="xs" py="xl" component="main">
        <ErrorState error={error} retry={retry} title={t("Dashboard cannot be loaded")} />
      </Container>
    );
  if (path === "/invitation") return <Invitation />;
  if (session === undefined) return <Waiting />;
  if (session === null) return <Login />;
  if (session.user.passwordDue) return <NewPassword session={session} />;
  return (
    <SessionProvider session={session}>
      <Shell />
    </SessionProvider>
  );
}

const Waiting = () => (
  <Center mih="100dvh">
    <Loader aria-label={t("Loading")} />
  </Center>
);
