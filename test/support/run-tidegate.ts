import { execFile } from 'node:child_process'

import { PROGRAM, PROJECT_ROOT } from './project-root.js'
import { isInProcess } from './tidegate-process.js'

export const ROOT = PROJECT_ROOT

export interface ProgramRun {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

interface ProgramSurroundings {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string
  /** Of another build. */
  readonly program?: string
}

const COMPILER = process.env['OPA_BIN']
const OWN = COMPILER === undefined ? {} : { OPA_BIN: COMPILER }

/**
 * Runs a command to its end, with nothing of the caller's own settings. In the project `unit` it runs
 * in the test process from the sources, otherwise it is the built program.
 */
export function runTidegate(
  args: readonly string[],
  surroundings: ProgramSurroundings = {},
): Promise<ProgramRun> {
  return isInProcess ? runHere(args, surroundings) : runProgram(args, surroundings)
}

let lastRun: Promise<unknown> = Promise.resolve()

/** One run at a time, because the current directory and the environment belong to the process. */
function runHere(args: readonly string[], surroundings: ProgramSurroundings): Promise<ProgramRun> {
  const run = lastRun.then(() => runAlone(args, surroundings))
  lastRun = run.catch(() => undefined)
  return run
}

async function runAlone(
  args: readonly string[],
  { cwd = ROOT, env = {}, stdin = '' }: ProgramSurroundings,
): Promise<ProgramRun> {
  const { runCommandLine } = await import('../../src/cli/run-command-line.js')
  const [out, err] = [new WrittenText(), new WrittenText()]
  const before = { cwd: process.cwd(), env: { ...process.env } }
  process.chdir(cwd)
  setEnvironment({ HOME: cwd, ...OWN, ...env })
  try {
    const exitCode = await runCommandLine(args, {
      out: (text) => out.add(Buffer.from(text)),
      outBytes: (bytes) => {
        out.add(bytes)
        return Promise.resolve(true)
      },
      err: (text) => err.add(Buffer.from(text)),
      readStdin: () => Promise.resolve(Buffer.from(stdin)),
      env: process.env,
      ownsProcess: false,
      isInteractive: false,
      showsProgress: false,
      hasColours: false,
    })
    return { exitCode, stdout: out.text(), stderr: err.text() }
  } finally {
    process.chdir(before.cwd)
    setEnvironment(before.env)
  }
}

/** Keeps the object, since Node.js notices a change of TZ in it only. */
function setEnvironment(variables: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env))
    if (!(name in variables)) Reflect.deleteProperty(process.env, name)
  Object.assign(process.env, variables)
}

class WrittenText {
  readonly #parts: Uint8Array[] = []

  add(bytes: Uint8Array): void {
    this.#parts.push(bytes)
  }

  text(): string {
    return Buffer.concat(this.#parts).toString()
  }
}

/** Runs the built program to its end. */
export function runProgram(
  args: readonly string[],
  { cwd = ROOT, env = {}, stdin = '', program = PROGRAM }: ProgramSurroundings = {},
): Promise<ProgramRun> {
  return new Promise((resolve, reject) => {
    const options = { cwd, env: { HOME: cwd, ...OWN, ...env }, timeout: 50_000, maxBuffer: 64 * 1024 * 1024 }
    const child = execFile(process.execPath, [program, ...args], options, (error, stdout, stderr) => {
      const exitCode = error === null ? 0 : error.code
      if (typeof exitCode === 'number') resolve({ exitCode, stdout, stderr })
      else reject(new Error(`tidegate ${args.join(' ')} did not end by itself`, { cause: error }))
    })
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(stdin)
  })
}
