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

/** Where the records of a configuration are, with the password that it names. Raises `invalid` for one that cannot be read. */
export function configuredLocation(config: Config, env: Environment): StoreLocation {
  return storeLocation(config, readSecrets({ store: config.store }, env))
}

/** Looks at the database of a configuration. Raises `unavailable` where it does not answer, `invalid` where the configuration names none. */
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
