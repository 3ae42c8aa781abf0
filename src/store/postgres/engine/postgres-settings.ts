/** Address of a PostgreSQL server. */
export interface PostgresHost {
  /** Host name, address, or directory of a unix socket. */
  readonly host: string
  readonly port: number
}

/** Connection settings. Plain values, since they cross a thread. */
export interface PostgresSettings extends PostgresHost {
  /** Further hosts. The host that accepts writes is used. */
  readonly otherHosts?: readonly PostgresHost[] | undefined
  /** Whether a standby may be used for reading if no host accepts writes. */
  readonly takesStandby?: boolean | undefined
  readonly user: string
  readonly database: string
  /**
   * Password. If absent, PGPASSWORD or the client library's password file (`~/.pgpass`, PGPASSFILE)
   * is used.
   */
  readonly password?: string | undefined
  /** Source of the password. Each connection reads the file again, since it may change. */
  readonly passwordFile?: string | undefined
  /** Absent for an unencrypted connection. */
  readonly tls?: PostgresTls | undefined
}

/** TLS settings with certificates in PEM. */
export interface PostgresTls {
  /** Whether the server needs a certificate of a known authority for its name. */
  readonly isVerified: boolean
  readonly ca?: string | undefined
  readonly certificate?: string | undefined
  readonly key?: string | undefined
}

/** Timeouts in milliseconds. */
export interface PostgresTimeouts {
  /** Timeout of a statement. */
  readonly statementMs: number
  /** Timeout of a lock. */
  readonly lockMs: number
}
