import { join } from 'node:path'
import type { PostgresSettings } from '../../../src/store/postgres/engine/postgres-settings.js'
import type { Workspace } from '../workspace.js'

/** What the configuration of a service says of its database; the password is written into the workspace. */
export function storeSection(workspace: Workspace, settings: PostgresSettings) {
  const { host, port, user, database, password = '' } = settings
  workspace.write({ password })
  return {
    url: `postgres://${user}@${host}:${port}/${database}`,
    password: { file: join(workspace.path, 'password') },
  }
}
