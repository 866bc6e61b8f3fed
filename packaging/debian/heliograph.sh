#!/bin/sh
# Runs a command of Heliograph as the service's user, with the settings of the service.
set -eu
node=/usr/lib/heliograph/bin/node
cli=/usr/lib/heliograph/lib/cli.mjs
settings=/etc/heliograph/heliograph.env

case "${1:-}" in
--help | --version) exec "$node" "$cli" "$@" ;;
"" | start)
	echo "heliograph: the server is a service: systemctl start heliograph" >&2
	exit 2
	;;
esac
case "$(id -un)" in
root | heliograph) ;;
*)
	echo "heliograph: the settings and the data belong to the service: run this as root" >&2
	exit 2
	;;
esac

export HELIOGRAPH_DATA_DIR=/var/lib/heliograph
# Read line by line, as systemd does: a shell would expand dollar signs and run commands in values.
if [ -r "$settings" ]; then
	while IFS= read -r line || [ -n "$line" ]; do
		case "$line" in
		HELIOGRAPH_*=*)
			value=${line#*=}
			case "$value" in
			\"*\") value=${value#\"} value=${value%\"} ;;
			\'*\') value=${value#\'} value=${value%\'} ;;
			esac
			export "${line%%=*}=$value"
			;;
		esac
	done <"$settings"
fi
if [ "$(id -u)" = 0 ]; then
	exec setpriv --reuid=heliograph --regid=heliograph --init-groups -- "$node" "$cli" "$@"
fi
exec "$node" "$cli" "$@"
