import { ownMember } from '../own-member.js'

/** What to do where the other side is not trusted, and where it wants a certificate of this one. */
interface TlsAdvice {
  readonly trust: string
  readonly show: string
}

const ADVICE: TlsAdvice = {
  trust: 'start Tidegate with NODE_EXTRA_CA_CERTS=FILE',
  show: 'which Tidegate has none of: put a proxy in between',
}

/** What is wrong with a connection by TLS, and what to do, by the code of Node or OpenSSL. */
function problems({ trust, show }: TlsAdvice): Readonly<Record<string, string>> {
  const trustIt = `${trust}, the certificate of its authority (its own, where it is self-signed)`
  return {
    CERT_HAS_EXPIRED: 'its certificate has expired: renew it there',
    CERT_NOT_YET_VALID: "its certificate is not valid yet: check both machines' clocks",
    CERT_REVOKED: 'its certificate was revoked: renew it there',
    DEPTH_ZERO_SELF_SIGNED_CERT: `its certificate is self-signed and not trusted here: ${trustIt}`,
    SELF_SIGNED_CERT_IN_CHAIN: `its certificate is of an authority that is not trusted here: ${trustIt}`,
    UNABLE_TO_GET_ISSUER_CERT: `its certificate is of an authority that is not known here: ${trustIt}`,
    UNABLE_TO_GET_ISSUER_CERT_LOCALLY: `its certificate is of an authority that is not known here: ${trustIt}`,
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: `its certificate is of an authority that is not known here, or it leaves out an intermediate one: ${trustIt}`,
    ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS on this port: write http:// or name another port',
    ERR_SSL_PACKET_LENGTH_TOO_LONG: 'it does not speak TLS on this port: write http:// or name another port',
    ERR_SSL_UNSUPPORTED_PROTOCOL: 'it speaks only versions of TLS that are too old: let it speak TLS 1.2',
    ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION:
      'it takes no version of TLS that is spoken here: let it speak TLS 1.2',
    ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: `it asks for a certificate of its clients, ${show}`,
  }
}
const NO_HTTP = 'if it speaks TLS on this port, write https://'
const NAME_DIFFERS = 'ERR_TLS_CERT_ALTNAME_INVALID'

/** What to do about an error that comes from TLS, or from its lack; undefined for other errors. */
export function tlsProblem(
  error: Error,
  code: string | undefined,
  isPlain: boolean,
  advice = ADVICE,
): string | undefined {
  // What a server that wants TLS does with plain HTTP: it answers with an alert, or hangs up.
  if (isPlain && error.name === 'HTTPParserError') return `it does not answer in HTTP: ${NO_HTTP}`
  if (isPlain && code === 'UND_ERR_SOCKET') return `${error.message}: ${NO_HTTP}`
  if (code === NAME_DIFFERS) {
    const names = 'cert' in error ? namesOf(error.cert) : ''
    return `its certificate is for another name${names}: write a name in the URL that the certificate has`
  }
  return code === undefined ? undefined : ownMember(problems(advice), code)
}

/** `subjectaltname` is a list such as `DNS:a.example.org, DNS:b.example.org`. */
function namesOf(certificate: unknown): string {
  if (typeof certificate !== 'object' || certificate === null || !('subjectaltname' in certificate)) return ''
  const { subjectaltname: names } = certificate
  return typeof names === 'string' ? ` (it has ${names.replaceAll(/DNS:|IP Address:/g, '')})` : ''
}
