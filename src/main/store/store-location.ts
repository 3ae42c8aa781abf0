import { readPem } from '../files/read-pem.js'
import { userInfo } from 'node:os'

import type { Config } from '../../config/config.js'
import type { ReadSecret } from '../../config/values/secret.js'
import type {
  PostgresSettings,
  PostgresHost,
  PostgresTls,
} from '../../store/postgres/engine/postgres-settings.js'
import { AppError } from '../../errors/app-error.js'
import { DATABASE_URL_TEXT, readDatabaseUrl } from '../../config/values/database-url.js'
import type { DatabaseUrl } from '../../config/values/database-url.js'
import { isLoopback } from '../../config/sections/listen-address.js'

/** Engine and location of the durable records. A plain value that can be sent to threads. */
export type StoreLocation =
  | {
      readonly engine: 'sqlite'
      /** The folder of `tidegate.db`. */
      readonly dataDir: string
    }
  | { readonly engine: 'postgres'; readonly settings: PostgresSettings }

/**
 * Chooses the engine of the durable records from the configuration. Throws `invalid` as
 * `postgresSettings`.
 */
export function storeLocation(
  { dataDir, store }: Pick<Config, 'dataDir' | 'store'>,
  readSecret: ReadSecret,
): StoreLocation {
  if (store.url === undefined) return inDataDirectory(dataDir)
  return { engine: 'postgres', settings: postgresSettings(store.url, store, readSecret, process.env) }
}

/** The location of records in files. */
export function inDataDirectory(dataDir: string): StoreLocation {
  return { engine: 'sqlite', dataDir }
}

/**
 * The location of a database given by a URL. The password comes from the environment
 * (PGPASSWORD), and whether to encrypt depends on the host.
 */
export function inDatabase(url: string): Extract<StoreLocation, { engine: 'postgres' }> {
  const noSecret = (): never => {
    throw new AppError('internal', 'a location without a configuration names no secret')
  }
  return { engine: 'postgres', settings: postgresSettings(url, { tls: 'auto' }, noSecret, process.env) }
}

type StoreConfig = Config['store']
type Environment = Readonly<Record<string, string | undefined>>

const DEFAULT_PORT = '5432'

/**
 * Connection settings of the configured database. Parts that the URL leaves out come from the
 * environment, as in psql. Throws `invalid` for a malformed URL or an unreadable
 * certificate.
 */
export function postgresSettings(
  url: string,
  store: Pick<StoreConfig, 'tls' | 'tlsCa' | 'tlsCertificate' | 'tlsKey' | 'password'>,
  readSecret: ReadSecret,
  env: Environment,
): PostgresSettings {
  const named = readDatabaseUrl(url)
  if (named === undefined) throw new AppError('invalid', `store.url must be ${DATABASE_URL_TEXT}`)
  const hosts = hostsOf(named, env)
  const [{ host, port }, ...otherHosts] = hosts
  const user = named.user || (env['PGUSER'] ?? userInfo().username)
  return {
    host,
    port,
    ...(otherHosts.length > 0 && { otherHosts }),
    user,
    database: named.database || (env['PGDATABASE'] ?? user),
    password: store.password === undefined ? undefined : readSecret(store.password).reveal(),
    passwordFile: store.password !== undefined && 'file' in store.password ? store.password.file : undefined,
    tls: tlsOf(hosts, store),
  }
}

function hostsOf({ hosts }: DatabaseUrl, env: Environment): readonly [PostgresHost, ...PostgresHost[]] {
  const inEnvironment = (env['PGHOST'] ?? 'localhost').split(',')
  const ports = (env['PGPORT'] ?? DEFAULT_PORT).split(',')
  const named = hosts.some(({ host }) => host !== '')
    ? hosts
    : inEnvironment.map((host) => ({ host, port: hosts[0]?.port ?? '' }))
  const [first, ...others] = named.map(({ host, port }, index) => ({
    host,
    port: Number(port || (ports[index] ?? ports[0])),
  }))
  return [first ?? { host: 'localhost', port: Number(DEFAULT_PORT) }, ...others]
}

function tlsOf(
  hosts: readonly PostgresHost[],
  store: Pick<StoreConfig, 'tls' | 'tlsCa' | 'tlsCertificate' | 'tlsKey'>,
): PostgresTls | undefined {
  const isLocal = hosts.every(({ host }) => host.startsWith('/') || isLoopback(host))
  const mode = store.tls === 'auto' ? (isLocal ? 'off' : 'verify') : store.tls
  if (mode === 'off') return undefined
  return {
    isVerified: mode === 'verify',
    ca: readPem('store.tlsCa', store.tlsCa),
    certificate: readPem('store.tlsCertificate', store.tlsCertificate),
    key: readPem('store.tlsKey', store.tlsKey),
  }
}
