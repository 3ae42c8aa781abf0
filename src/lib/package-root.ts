import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** The directory of the installed package, ending in a slash, in which `policies/` and `package.json` stand. */
export const packageRoot = `${rootAbove(dirname(fileURLToPath(import.meta.url)))}/`

/** The version of the installed package, `0.1.0`. */
export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(`${packageRoot}package.json`, 'utf8')) as { version: string }
  return version
}

/** What a thread runs: the file of that name in `threads/`, as built. */
export function threadScript(name: string): URL {
  return pathToFileURL(`${packageRoot}dist/threads/${name}.js`)
}

/** Looked for, since how deep a module stands depends on what was bundled with it. */
function rootAbove(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : rootAbove(dirname(folder))
}
