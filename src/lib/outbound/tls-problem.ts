import { ownMember } from '../own-member.js'

/** Advice for an untrusted server, and for a server that requires a client certificate. */
interface TlsAdvice {
  readonly trust: string
  readonly show: string
}

const ADVICE: TlsAdvice = {
  trust: 'start Tidegate with NODE_EXTRA_CA_CERTS=FILE',
  show: 'which Tidegate cannot send: use a proxy',
}

/** TLS problems and their remedies, by error code of Node.js or OpenSSL. */
function problems({ trust, show }: TlsAdvice): Readonly<Record<string, string>> {
  const trustIt = `${trust}, the certificate of its authority (its own, where it is self-signed)`
  return {
    CERT_HAS_EXPIRED: 'its certificate has expired: renew it there',
    CERT_NOT_YET_VALID: "its certificate is not valid yet: check both machines' clocks",
    CERT_REVOKED: 'its certificate was revoked: renew it there',
    DEPTH_ZERO_SELF_SIGNED_CERT: `its certificate is self-signed and not trusted: ${trustIt}`,
    SELF_SIGNED_CERT_IN_CHAIN: `its certificate is signed by an untrusted authority: ${trustIt}`,
    UNABLE_TO_GET_ISSUER_CERT: `its certificate is signed by an unknown authority: ${trustIt}`,
    UNABLE_TO_GET_ISSUER_CERT_LOCALLY: `its certificate is signed by an unknown authority: ${trustIt}`,
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: `its certificate is signed by an unknown authority, or an intermediate certificate is missing: ${trustIt}`,
    ERR_SSL_WRONG_VERSION_NUMBER: 'the port does not use TLS: write http:// or use another port',
    ERR_SSL_PACKET_LENGTH_TOO_LONG: 'the port does not use TLS: write http:// or use another port',
    ERR_SSL_UNSUPPORTED_PROTOCOL: 'it supports only outdated TLS versions: enable TLS 1.2 there',
    ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION:
      'it supports no TLS version that Tidegate supports: enable TLS 1.2 there',
    ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: `it requires a client certificate, ${show}`,
  }
}
const NO_HTTP = 'if the port uses TLS, write https://'
const NAME_DIFFERS = 'ERR_TLS_CERT_ALTNAME_INVALID'

/** The remedy for an error caused by TLS, or by its absence. Undefined for other errors. */
export function tlsProblem(
  error: Error,
  code: string | undefined,
  isPlain: boolean,
  advice = ADVICE,
): string | undefined {
  // A server that expects TLS answers plain HTTP with an alert, or closes the connection.
  if (isPlain && error.name === 'HTTPParserError') return `it does not answer with HTTP: ${NO_HTTP}`
  if (isPlain && code === 'UND_ERR_SOCKET') return `${error.message}: ${NO_HTTP}`
  if (code === NAME_DIFFERS) {
    const names = 'cert' in error ? namesOf(error.cert) : ''
    return `its certificate is for another name${names}: use a name of the certificate in the URL`
  }
  return code === undefined ? undefined : ownMember(problems(advice), code)
}

/** `subjectaltname` is a list such as `DNS:a.example.org, DNS:b.example.org`. */
function namesOf(certificate: unknown): string {
  if (typeof certificate !== 'object' || certificate === null || !('subjectaltname' in certificate)) return ''
  const { subjectaltname: names } = certificate
  return typeof names === 'string' ? ` (it has ${names.replaceAll(/DNS:|IP Address:/g, '')})` : ''
}
