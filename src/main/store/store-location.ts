import type { Config } from '../../config/config.js'
import type { ReadSecret } from '../../config/values/secret.js'
import type { PostgresSettings } from '../../store/postgres/engine/postgres-settings.js'
import { AppError } from '../../errors/app-error.js'
import { postgresSettings } from './postgres-settings.js'

/** Which engine keeps the durable records, and where: a plain value, so that threads can be told. */
export type StoreLocation =
  | {
      readonly engine: 'sqlite'
      /** The folder of `tidegate.db`. */
      readonly dataDir: string
    }
  | { readonly engine: 'postgres'; readonly settings: PostgresSettings }

/** The one place that decides from the configuration which engine keeps the durable records. Raises `invalid` as `postgresSettings`. */
export function storeLocation(
  { dataDir, store }: Pick<Config, 'dataDir' | 'store'>,
  readSecret: ReadSecret,
): StoreLocation {
  if (store.url === undefined) return inDataDirectory(dataDir)
  return { engine: 'postgres', settings: postgresSettings(store.url, store, readSecret, process.env) }
}

/** The records of a service that keeps them in files of its own. */
export function inDataDirectory(dataDir: string): StoreLocation {
  return { engine: 'sqlite', dataDir }
}

/** A database that a URL names; its password and whether it is encrypted follow from the environment and the host. */
export function inDatabase(url: string): Extract<StoreLocation, { engine: 'postgres' }> {
  const noSecret = (): never => {
    throw new AppError('internal', 'a location without a configuration names no secret')
  }
  return { engine: 'postgres', settings: postgresSettings(url, { tls: 'auto' }, noSecret, process.env) }
}
