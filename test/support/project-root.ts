import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The folder of the project, also for code compiled into a subfolder. */
export const PROJECT_ROOT = rootAbove(import.meta.dirname)

/** The built program. */
export const PROGRAM = join(PROJECT_ROOT, 'dist/cli.js')

function rootAbove(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : rootAbove(dirname(folder))
}
