# Installs Debian packages. Sourced by quickstart and run-tests.
#
# Cloud machines update themselves in their first minutes: another package manager has the lock then.
# That is waited for, with a message. (apt's own DPkg::Lock::Timeout does not cover the lock of the
# package lists, so `apt-get update` would fail all the same.)

packages_wait_s=${PATCHBAY_PACKAGES_WAIT_S:-900} # for the other package manager, at most
packages_pause_s=${PATCHBAY_PACKAGES_PAUSE_S:-5} # between two attempts

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        echo "please install as root: $*" >&2
        return 1
    fi
}

# apt ARGUMENT…: apt-get, once nobody else uses it.
apt() {
    local errors waited=0
    errors=$(mktemp) || return 1
    until as_root env LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get -qq "$@" </dev/null 2>"$errors"; do
        if ! grep -qE 'Could not get lock|locked by another process' "$errors"; then
            cat "$errors" >&2
            rm -f "$errors"
            return 1
        fi
        if [ "$waited" -ge "$packages_wait_s" ]; then
            cat "$errors" >&2
            echo "Another package manager has not finished within $packages_wait_s s: see which it is, and try again." >&2
            rm -f "$errors"
            return 1
        fi
        if [ "$waited" -eq 0 ]; then
            echo "Another package manager is running: waiting for it to finish, at most $packages_wait_s s." >&2
            grep -m 1 -E 'Could not get lock|locked by another process' "$errors" >&2
        fi
        sleep "$packages_pause_s"
        waited=$((waited + packages_pause_s))
    done
    rm -f "$errors"
}

# install PACKAGE…: those that are missing.
install() {
    local missing=() package
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return
    echo "installing ${missing[*]}" >&2
    apt update && apt install -y --no-install-recommends "${missing[@]}" >/dev/null
}
