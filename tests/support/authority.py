# SPDX-License-Identifier: Apache-2.0
"""A certificate authority for tests, made with the openssl command."""

import subprocess
from pathlib import Path

CONFIGURATION = """\
[ca]
default_ca = test
[test]
database = {folder}/index.txt
new_certs_dir = {folder}
rand_serial = yes
default_md = sha256
policy = any
unique_subject = no
default_crl_days = 30
[any]
commonName = supplied
"""
NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256")


def openssl(*args):
    subprocess.run(["openssl", *map(str, args)], check=True, capture_output=True, stdin=subprocess.DEVNULL)


class Authority:
    """Its own certificate is `certificate`; what it issues lies in the same folder."""

    def __init__(self, folder, name="authority", above=None):
        """Its own certificate is of `above`, else of itself."""
        self.folder = Path(folder) / name
        self.folder.mkdir()
        self.configuration = self.folder / "openssl.cnf"
        self.configuration.write_text(CONFIGURATION.format(folder=self.folder))
        (self.folder / "index.txt").touch()
        self.certificate, self.key = self.folder / "ca.pem", self.folder / "ca.key"
        if above is None:
            openssl("req", "-x509", *NEW_KEY, "-nodes", "-days", 2, "-subj", f"/CN={name}",
                    "-keyout", self.key, "-out", self.certificate)
        else:
            self.certificate, self.key = above.issue(name, extensions="basicConstraints = critical,CA:TRUE\n"
                                                     "keyUsage = critical,keyCertSign,cRLSign\n")

    def issue(self, name, *names, begin=None, end="20991231235959Z", password=None, extensions=None, file=None):
        """A certificate for these subject names ("DNS:…", "IP:…"), and its key: two paths."""
        text = extensions or (f"subjectAltName = {','.join(names)}\n" if names else "basicConstraints = CA:FALSE\n")
        file = file or name
        certificate, key = self.folder / f"{file}.pem", self.folder / f"{file}.key"
        request, extensions = self.folder / f"{file}.csr", self.folder / f"{file}.ext"
        protection = ["-nodes"] if password is None else ["-passout", f"pass:{password}"]
        openssl("req", *NEW_KEY, *protection, "-subj", f"/CN={name}", "-keyout", key, "-out", request)
        extensions.write_text(text)
        openssl("ca", "-batch", "-config", self.configuration, "-cert", self.certificate, "-keyfile", self.key,
                "-in", request, "-out", certificate, "-notext", "-extfile", extensions, "-enddate", end,
                *(["-startdate", begin] if begin else []))
        return certificate, key

    def revoke(self, certificate):
        openssl("ca", "-config", self.configuration, "-cert", self.certificate, "-keyfile", self.key, "-revoke", certificate)

    def revoked(self, *until):
        """The list of what it has taken back, as text; `until`: options of openssl ca."""
        made = self.folder / "list.pem"
        openssl("ca", "-config", self.configuration, "-cert", self.certificate, "-keyfile", self.key, "-gencrl",
                *until, "-out", made)
        return made.read_text()
