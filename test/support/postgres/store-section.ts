import { join } from 'node:path'
import type { PostgresSettings } from '../../../src/store/postgres/engine/postgres-settings.js'
import type { Workspace } from '../workspace.js'

/** The URL of a database, with all its hosts. */
export function databaseUrl({ host, port, otherHosts = [], user, database }: PostgresSettings): string {
  const hosts = [{ host, port }, ...otherHosts].map((each) => `${each.host}:${each.port}`)
  return `postgres://${user}@${hosts.join(',')}/${database}`
}

/**
 * The database section of a service's configuration. The password is written into the workspace.
 */
export function storeSection(workspace: Workspace, settings: PostgresSettings) {
  workspace.write({ password: settings.password ?? '' })
  return { url: databaseUrl(settings), password: { file: join(workspace.path, 'password') } }
}
