import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { PROGRAM } from './project-root.js'
import { waitUntil } from './wait-until.js'
import type { Workspace } from './workspace.js'

/** The end-to-end tests can be run with more than one process that decides. */
const WORKERS = Number(process.env['WORKERS'] ?? 1)

/** The project `unit` runs tests of routes over a service in its own process, which needs no build. */
export const isInProcess = process.env['TIDEGATE_IN_PROCESS'] === 'yes'

/** A line of the service's JSON log. */
export type LogLine = Readonly<Record<string, unknown>> & { readonly msg?: string; readonly level?: string }

/** The built program at work in a process of its own. */
export interface TidegateProcess {
  readonly url: string
  readonly pid: number
  /** All that it has written to standard error so far. */
  readonly logText: () => string
  readonly log: () => LogLine[]
  readonly isRunning: () => boolean
  /** Sends a signal and waits for the end; returns the exit code, null where the signal ended it. */
  readonly end: (signal: NodeJS.Signals) => Promise<number | null>
}

/** The first line of the service's log that matches: its standard error may arrive after the response that it belongs to. */
export async function untilLogged(
  service: Pick<TidegateProcess, 'log' | 'logText'>,
  matches: (line: LogLine) => boolean,
): Promise<LogLine> {
  return await waitUntil(
    () => service.log().find(matches),
    () => `no line of the log matches: ${service.logText()}`,
  )
}

export interface ProcessEnd {
  readonly code: number | null
  readonly output: string
}

/** What a test says of the service; the rest is set so that tests do not meet. */
export interface ServeSettings {
  readonly workspace: Workspace
  /** Folders of Rego; the workspace's `policies` where absent. */
  readonly directories?: readonly string[]
  readonly config?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly args?: readonly string[]
  /** What node itself is told before the program. */
  readonly nodeArgs?: readonly string[]
  /** How many files and connections it may have open (`ulimit -n`). */
  readonly openFiles?: number
  /** The name of the data directory in the workspace, which only one service at a time may have. */
  readonly dataDir?: string
  /** Another Node.js than that of the tests. */
  readonly node?: string
  /** The program of another build. */
  readonly program?: string | undefined
}

/** Starts `tidegate serve` on a free port of loopback and waits until it serves. Throws what it wrote when it ends instead. */
export async function startTidegate(settings: ServeSettings): Promise<TidegateProcess> {
  return isInProcess ? await startHere(settings) : await untilItServes(spawnServe(settings))
}

/** The same service in this process, from the sources. */
async function startHere(settings: ServeSettings): Promise<TidegateProcess> {
  // Loaded when it is needed: the other tests run what was built, and not the sources.
  const { startInProcess } = await import('./in-process-service.js')
  const { url, logText, stop } = await startInProcess(writeConfig(settings))
  let isRunning = true
  return {
    url,
    pid: process.pid,
    logText,
    log: () => parseLog(logText()),
    isRunning: () => isRunning,
    end: async () => {
      isRunning = false
      const failed = await stop()
      return failed.length
    },
  }
}

/** Starts a program that is installed elsewhere, with nothing but these arguments and the Node.js of the tests or another, and waits until it serves. */
export async function startInstalled(
  program: string,
  args: readonly string[],
  cwd: string,
  node = process.execPath,
): Promise<TidegateProcess> {
  return await untilItServes(spawnProgram([node, program, ...args], cwd))
}

async function untilItServes({ child, output }: Spawned): Promise<TidegateProcess> {
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null
  const log = (): LogLine[] => parseLog(output())
  const url = await waitUntil(
    () => {
      if (!isRunning()) throw new Error(`tidegate ended with ${String(child.exitCode)}: ${output()}`)
      return log().find(({ msg }) => msg === 'serving')?.['url']
    },
    () => `tidegate does not serve: ${output()}`,
  )
  return {
    url: String(url),
    pid: child.pid ?? 0,
    logText: output,
    log,
    isRunning,
    end: async (signal) => {
      const ended = endOf(child)
      child.kill(signal)
      return await ended
    },
  }
}

/** Runs `tidegate serve` where it must refuse to start; returns its exit code and all that it wrote. */
export async function failToServe(settings: ServeSettings): Promise<ProcessEnd> {
  const { child, output } = spawnServe(settings)
  return { code: await endOf(child), output: output() }
}

interface Spawned {
  readonly child: ChildProcess
  readonly output: () => string
}

function spawnServe(settings: ServeSettings): Spawned {
  const { workspace, args = [], node = process.execPath, nodeArgs = [] } = settings
  const { openFiles, program = PROGRAM } = settings
  const serve = [program, 'serve', '--config', writeConfig(settings)]
  const command = [node, ...nodeArgs, ...serve, ...args]
  if (openFiles === undefined) return spawnProgram(command, workspace.path)
  return spawnProgram(['sh', '-c', `ulimit -n ${openFiles}; exec "$@"`, 'sh', ...command], workspace.path)
}

/** Writes the configuration into the workspace; returns the path of its file. */
function writeConfig(settings: ServeSettings): string {
  const {
    workspace,
    directories = [join(workspace.path, 'policies')],
    config = {},
    dataDir = 'data',
  } = settings
  const whole = {
    dataDir: join(workspace.path, dataDir),
    ...config,
    server: { addr: '127.0.0.1:0', workers: WORKERS, ...config['server'] },
    policies: { directories, ...config['policies'] },
  }
  workspace.write({ 'tidegate.json': JSON.stringify(whole) })
  return join(workspace.path, 'tidegate.json')
}

function spawnProgram([program = '', ...args]: readonly string[], cwd: string): Spawned {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], cwd })
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk))
  return { child, output: () => Buffer.concat(chunks).toString() }
}

function endOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode)
  return new Promise((resolve) => child.once('close', resolve))
}

function parseLog(text: string): LogLine[] {
  return text.split('\n').flatMap((line) => {
    if (!line.startsWith('{') || !line.endsWith('}')) return []
    return [JSON.parse(line) as LogLine]
  })
}
