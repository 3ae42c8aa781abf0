/** The certificate that a caller showed. */
export interface ClientCertificate {
  /** Why it is not trusted; undefined where an authority of the configuration has signed it. */
  readonly problem: string | undefined
  /** The values of its subject, by their types such as `CN`. */
  readonly subject: Readonly<Record<string, readonly string[]>>
  /** Its alternative names: `DNS:NAME`, `URI:URI`, `email:ADDRESS`, `IP:ADDRESS`. */
  readonly alternativeNames: readonly string[]
  /** When it ends, in milliseconds since the epoch. */
  readonly endsAtMs: number
}
