#!/usr/bin/env bash
# Make the secrets that compose.yaml mounts, where they are not there. Nothing is printed.
set -euo pipefail
folder="$(dirname "$0")/secrets"
mkdir -p "$folder"
chmod 700 "$folder" # nobody else of this machine gets in; the files are read by user 10001 inside a container
keep() { [[ -e "$folder/$1" ]] || { printf '%s' "$2" > "$folder/$1"; chmod 644 "$folder/$1"; }; }
word() { LC_ALL=C tr -dc 'a-f0-9' < /dev/urandom | head -c "$1" || true; }
keep api-auth "privasis:$(word 32)" # user:password, what Prefect's dashboard asks for
keep database-password "$(word 32)"
keep engine-key "$(word 32)"
keep ray-token "$(word 64)"
echo "Secrets are in $folder; the dashboard asks for the whole line of api-auth."
