import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** A folder for one test file, removed by the file that created it. */
export interface Workspace {
  readonly path: string
  /** Writes files, named by their path within the folder, and gives the folder. */
  readonly write: (files: Readonly<Record<string, string>>) => string
  readonly remove: () => void
}

export function makeWorkspace(files: Readonly<Record<string, string>> = {}): Workspace {
  const path = mkdtempSync(join(tmpdir(), 'tidegate-test-'))
  const write = (more: Readonly<Record<string, string>>): string => {
    for (const [name, text] of Object.entries(more)) {
      mkdirSync(join(path, dirname(name)), { recursive: true })
      writeFileSync(join(path, name), text)
    }
    return path
  }
  write(files)
  return { path, write, remove: () => rmSync(path, { recursive: true, force: true }) }
}
