import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'

import { packageRoot } from '../../lib/package-root.js'

export const EDITOR_PATH = '/ui/editor.js'
/** Built from `src/browser`. */
const FILE = `${packageRoot}dist/browser/editor.js`
const VERSION_LENGTH = 12

/** The script that turns text fields into editors. */
export interface EditorScript {
  readonly plain: Buffer
  readonly gzipped: Buffer
  /** Changes with the content, so that browsers may keep the script. */
  readonly version: string
}

let script: EditorScript | undefined

/** Returns the script; undefined without a build, when text fields stay as they are. */
export function editorScript(): EditorScript | undefined {
  if (script !== undefined || !existsSync(FILE)) return script
  const plain = readFileSync(FILE)
  const version = createHash('sha256').update(plain).digest('hex').slice(0, VERSION_LENGTH)
  script = { plain, version, gzipped: gzipSync(plain, { level: 9 }) }
  return script
}
