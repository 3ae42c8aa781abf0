import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The directory of the installed package, in which `policies/` and `package.json` stand. */
export const packageRoot = fileURLToPath(new URL('../../', import.meta.url))

/** The version of the installed package, `0.1.0`. */
export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(`${packageRoot}package.json`, 'utf8')) as { version: string }
  return version
}
