import { DATABASE_URL_TEXT, isDatabaseUrl } from '../../config/values/database-url.js'
import { inDatabase } from '../../main/store/store-location.js'
import type { StoreLocation } from '../../main/store/store-location.js'
import { wrongUse } from '../session/session.js'

/**
 * Returns the database of an option. Raises `wrong_use` unless it is a PostgreSQL URL without a
 * password.
 */
export function databaseOption(option: string, url: string): Extract<StoreLocation, { engine: 'postgres' }> {
  if (!isDatabaseUrl(url)) throw wrongUse(`${option} must be ${DATABASE_URL_TEXT}`)
  return inDatabase(url)
}
