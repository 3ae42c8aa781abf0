/** A client certificate. */
export interface ClientCertificate {
  /** Why the certificate is not trusted; undefined if a configured CA signed it. */
  readonly problem: string | undefined
  /** Subject values by type, such as `CN`. */
  readonly subject: Readonly<Record<string, readonly string[]>>
  /** Subject alternative names: `DNS:NAME`, `URI:URI`, `email:ADDRESS`, `IP:ADDRESS`. */
  readonly alternativeNames: readonly string[]
  /** SHA-256 of the issuer name's DER encoding; undefined if it cannot be read. */
  readonly issuer?: string | undefined
  /** Serial number in hexadecimal. */
  readonly serialNumber?: string | undefined
  /** The certificate in DER, in base64; undefined if it is too long for the headers of a relay. */
  readonly der?: string | undefined
  /** Expiry, in epoch milliseconds. */
  readonly endsAtMs: number
}

/**
 * Returns why a trusted certificate is rejected at a time: it is revoked, or its revocation list is
 * missing or expired. Returns undefined for a valid certificate.
 */
export type CheckRevocation = (certificate: ClientCertificate, nowMs: number) => string | undefined
