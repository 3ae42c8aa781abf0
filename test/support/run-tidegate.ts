import { execFile } from 'node:child_process'

import { PROGRAM, PROJECT_ROOT } from './project-root.js'

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

/** Runs the built program to its end, with nothing of the caller's own settings. */
export function runTidegate(
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
