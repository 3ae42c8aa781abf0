import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { postgresPrograms } from './postgres-programs.js'

/** How a program of PostgreSQL is run. */
interface PostgresHome {
  /** Where the programs are. */
  readonly programs: string
  /** The user that runs them. Absent if it is the user of the tests. */
  readonly user: { readonly uid: number; readonly gid: number } | undefined
  /** Their home directory. */
  readonly base: string
}

/** A server that can be started and stopped again and again. */
interface RunningPostgres {
  readonly start: () => void
  /** Immediate shutdown, like a crash (postgresql.org/docs/15/server-shutdown.html). */
  readonly stop: () => Promise<void>
}

const ENVIRONMENT = { LC_ALL: 'C.UTF-8', TZ: 'UTC' }

const GERMAN = 'de_DE.utf8'

/** Server messages are in German if possible, so that tests show that none is parsed. */
export function languageOfServers(): Readonly<Record<string, string>> {
  const locales = execFileSync('locale', ['-a'], { encoding: 'utf8', stdio: 'pipe' })
  return locales.split('\n').includes(GERMAN) ? { lc_messages: GERMAN } : {}
}

/** The programs in a directory of their own; throws where PostgreSQL is not installed. */
export function postgresHome(base: string): PostgresHome {
  const programs = postgresPrograms()
  if (programs === undefined) throw new Error('PostgreSQL is not installed')
  return { programs, user: asWhom(), base }
}

/** Runs a program to its end. */
export function runPostgresProgram(
  { programs, user, base }: PostgresHome,
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): void {
  const options = {
    ...user,
    env: { ...process.env, ...ENVIRONMENT, ...env },
    cwd: base,
    stdio: 'pipe',
  } as const
  execFileSync(join(programs, program), args, options)
}

/** A server over a directory of records; it ends with this process. */
export function runPostgres(
  { programs, user, base }: PostgresHome,
  directory: string,
  options: Readonly<Record<string, string>>,
): RunningPostgres {
  const args = Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  let child: ChildProcess | undefined
  const killAtExit = (): void => void child?.kill('SIGQUIT')
  return {
    start: () => {
      process.once('exit', killAtExit)
      child = spawn(join(programs, 'postgres'), ['-D', directory, ...args], {
        ...user,
        env: { ...process.env, ...ENVIRONMENT },
        cwd: base,
        stdio: 'ignore',
      })
    },
    stop: async () => {
      process.off('exit', killAtExit)
      const ended = new Promise((resolve) => child?.once('exit', resolve))
      if (child?.exitCode !== null) return
      child.kill('SIGQUIT')
      await ended
    },
  }
}

/** PostgreSQL refuses to run as root, so another user runs it. */
function asWhom(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const idOf = (kind: '-u' | '-g', name: string): number =>
    Number(execFileSync('id', [kind, name], { stdio: 'pipe' }))
  for (const name of ['postgres', 'nobody']) {
    try {
      return { uid: idOf('-u', name), gid: idOf('-g', name) }
    } catch {
      // There is no such user.
    }
  }
  throw new Error('PostgreSQL does not run as root, and there is no user to run it as')
}
