import type { Config } from '../../config/config.js'
import { readSecrets } from '../../config/read-secrets.js'
import { AppError } from '../../errors/app-error.js'
import type { DatabaseFacts } from '../../store/postgres/inspection/inspect-database.js'
import { storeLocation } from './store-location.js'
import type { StoreLocation } from './store-location.js'

export type {
  DatabaseFacts,
  SchemaFacts,
  ServerFacts,
} from '../../store/postgres/inspection/inspect-database.js'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * The location of the records of a configuration, with its password. Throws `invalid` if the
 * password cannot be read.
 */
export function configuredLocation(config: Config, env: Environment): StoreLocation {
  return storeLocation(config, readSecrets({ store: config.store }, env))
}

/**
 * Inspects the database of a configuration. Throws `unavailable` if it does not answer, `invalid`
 * if the configuration has none.
 */
export async function inspectConfiguredDatabase(
  config: Config,
  env: Environment,
  now: () => number,
): Promise<DatabaseFacts> {
  const location = configuredLocation(config, env)
  if (location.engine !== 'postgres') throw new AppError('invalid', 'the configuration has no store.url')
  const { inspectDatabase } = await import('../../store/postgres/inspection/inspect-database.js')
  return await inspectDatabase(location.settings, now)
}
