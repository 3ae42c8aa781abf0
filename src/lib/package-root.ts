import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** Directory of the installed package, with `policies/` and `package.json`. Ends in a slash. */
export const packageRoot = `${rootAbove(dirname(fileURLToPath(import.meta.url)))}/`

/** The version of the installed package, `0.1.0`. */
export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(`${packageRoot}package.json`, 'utf8')) as { version: string }
  return version
}

/** Returns the built script of a thread in `threads/`. */
export function threadScript(name: string): URL {
  return pathToFileURL(`${packageRoot}dist/threads/${name}.js`)
}

/** Searches upwards, because bundling changes the depth of a module. */
function rootAbove(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : rootAbove(dirname(folder))
}
