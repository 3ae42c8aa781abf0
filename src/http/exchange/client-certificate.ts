/** The certificate that a caller showed. */
export interface ClientCertificate {
  /** Why it is not trusted; undefined where an authority of the configuration has signed it. */
  readonly problem: string | undefined
  /** The values of its subject, by their types such as `CN`. */
  readonly subject: Readonly<Record<string, readonly string[]>>
  /** Its alternative names: `DNS:NAME`, `URI:URI`, `email:ADDRESS`, `IP:ADDRESS`. */
  readonly alternativeNames: readonly string[]
  /** Of its authority, in a form that only names of the same bytes have; undefined where it cannot be read. */
  readonly issuer?: string | undefined
  /** Its number there, in hexadecimal digits. */
  readonly serialNumber?: string | undefined
  /** When it ends, in milliseconds since the epoch. */
  readonly endsAtMs: number
}

/** Why a certificate that its authority has signed does not count at a time: it was revoked, or nobody can say. Undefined where it counts. */
export type CheckRevocation = (certificate: ClientCertificate, nowMs: number) => string | undefined
