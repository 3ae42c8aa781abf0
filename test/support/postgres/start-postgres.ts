import { migrate } from '../../../src/store/postgres/engine/migrate.js'
import type { PostgresSettings } from '../../../src/store/postgres/engine/postgres-settings.js'
import { serviceSchema } from '../../../src/store/postgres/migrations/service.js'
import type { TestProject } from 'vitest/node'
import { postgresPrograms } from './postgres-programs.js'
import { createDatabase, startPostgres } from './postgres-server.js'

declare module 'vitest' {
  interface ProvidedContext {
    /**
     * The server of this run, with an up-to-date database `tidegate_template`; undefined where
     * PostgreSQL is not installed.
     */
    readonly postgres: PostgresSettings | undefined
  }
}

/** One server for all test files of a project. */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (postgresPrograms() === undefined) {
    project.provide('postgres', undefined)
    return undefined
  }
  const server = await startPostgres()
  const template = await createDatabase(server.settings, 'tidegate_template')
  await migrate(template, serviceSchema)
  project.provide('postgres', server.settings)
  return () => server.remove()
}
