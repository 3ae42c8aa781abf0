import { decisionDatabaseOptions } from './decision-database.js'
import { migrate } from './migrate.js'
import { decisionMigrations } from './migrations/decisions.js'
import { openDatabase } from './open-database.js'

/**
 * Creates `decisions.db` when it is absent and brings its schema up to date; raises AppError `unavailable` when that
 * cannot be. Apart from the writer, so that the writing thread need not load what only migrations use.
 */
export async function prepareDecisionDatabase(path: string): Promise<void> {
  const database = openDatabase(decisionDatabaseOptions(path))
  try {
    await migrate(database, decisionMigrations)
  } finally {
    database.close()
  }
}
