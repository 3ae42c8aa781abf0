import { spawn } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { PostgresSettings } from '../../../src/store/postgres/engine/postgres-settings.js'
import { freePort } from '../free-port.js'
import { untilReady } from './postgres-server.js'
import { postgresHome } from './run-postgres.js'

const PROGRAM = '/usr/sbin/pgbouncer'

/** Whether PgBouncer is installed. */
export const hasPooler = existsSync(PROGRAM)

/**
 * Starts PgBouncer before a server until the test ends; gives how the database is reached through
 * it.
 */
export async function startPooler(
  server: PostgresSettings,
  mode: 'session' | 'transaction',
): Promise<PostgresSettings> {
  const base = mkdtempSync(join(tmpdir(), 'tidegate-pooler-'))
  const { user } = postgresHome(base)
  const port = await freePort()
  const write = (name: string, text: string): string => {
    const path = join(base, name)
    writeFileSync(path, text)
    if (user !== undefined) chownSync(path, user.uid, user.gid)
    return path
  }
  const users = write('users', `"${server.user}" "${server.password ?? ''}"\n`)
  const settings = [
    '[databases]',
    `* = host=${server.host} port=${server.port}`,
    '[pgbouncer]',
    ...['listen_addr = 127.0.0.1', `listen_port = ${port}`, 'unix_socket_dir ='],
    ...['auth_type = trust', `auth_file = ${users}`, `pool_mode = ${mode}`],
  ]
  const file = write('pooler.ini', settings.join('\n'))
  if (user !== undefined) chownSync(base, user.uid, user.gid)
  const pooler = spawn(PROGRAM, ['--quiet', file], { ...user, cwd: base, stdio: 'ignore' })
  onTestFinished(async () => {
    const ended = new Promise((resolve) => pooler.once('exit', resolve))
    pooler.kill('SIGKILL')
    await ended
    rmSync(base, { recursive: true, force: true })
  })
  const through = { ...server, port }
  await untilReady(through)
  return through
}
