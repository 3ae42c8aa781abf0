import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/**
 * The path of a program on PATH. Undefined if it is not installed; tests that need it are skipped.
 */
export function findProgram(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return folders.map((folder) => join(folder, name)).find(isExecutable)
}

/** The output of a program, and whether it exited with 0. */
export function runProgram(
  program: string,
  args: readonly string[],
  cwd: string,
): { readonly succeeded: boolean; readonly output: string } {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8', timeout: 60_000 })
  return { succeeded: status === 0, output: stdout + stderr }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
