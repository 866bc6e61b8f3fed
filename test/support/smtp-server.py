"""A mail server (aiosmtpd). Reads its settings and later commands from standard input, and prints what it receives, as JSON."""

import asyncio
import json
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult


def show(value):
    print(json.dumps(value), flush=True)


class Handler:
    def __init__(self, is_secure):
        self.is_secure = is_secure
        self.rcpt = []
        self.data = []

    async def handle_RCPT(self, server, session, envelope, address, options):
        if self.rcpt:
            return self.rcpt.pop(0)
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        if self.data:
            reply = self.data.pop(0)
            if reply == "close":
                server.transport.abort()
                return "421 closing"
            return reply
        show({
            "from": envelope.mail_from,
            "to": envelope.rcpt_tos,
            "tls": session.ssl is not None or self.is_secure,
            "login": session.authenticated,
            "data": envelope.content.decode("utf-8"),
        })
        return "250 2.0.0 queued as 4711 for " + envelope.rcpt_tos[0]


async def main():
    settings = json.loads(sys.stdin.readline())
    handler = Handler(settings["security"] == "tls")
    context = None
    if settings["cert"]:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(settings["cert"], settings["key"])
    login = settings["login"]

    def authenticate(server, session, envelope, mechanism, data):
        pair = [data.login.decode(), data.password.decode()]
        return AuthResult(success=pair == login, handled=False)

    def protocol():
        return SMTP(
            handler,
            hostname="mail.example.com",
            tls_context=context if settings["security"] == "starttls" else None,
            require_starttls=settings["security"] == "starttls",
            authenticator=authenticate if login else None,
            auth_required=bool(login),
            auth_require_tls=settings["security"] == "starttls",
            enable_SMTPUTF8=False,
            loop=asyncio.get_running_loop(),
        )

    server = await asyncio.get_running_loop().create_server(
        protocol, "127.0.0.1", settings["port"], ssl=context if settings["security"] == "tls" else None
    )
    show({"port": server.sockets[0].getsockname()[1]})
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        command = json.loads(line)
        handler.rcpt = command.get("rcpt", [])
        handler.data = command.get("data", [])
        show({"ready": True})


asyncio.run(main())
