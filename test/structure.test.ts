import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'

import { PROJECT_ROOT } from './support/project-root.js'

const SOURCES = join(PROJECT_ROOT, 'src')

/**
 * The TypeScript files of the service, relative to `src`; AssemblyScript is a program of its own.
 */
const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => file.endsWith('.ts') && !file.includes('/assembly/'))

/**
 * The folders that each folder imports from: its own files alone, not those of folders inside it.
 */
function importedFolders(): Map<string, Set<string>> {
  const imported = new Map<string, Set<string>>()
  for (const file of files) {
    const folder = dirname(file)
    const targets = imported.get(folder) ?? new Set()
    imported.set(folder, targets)
    const text = readFileSync(join(SOURCES, file), 'utf8')
    for (const [, path = ''] of text.matchAll(/(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'/g)) {
      const target = dirname(normalize(join(folder, path)))
      if (target !== folder) targets.add(target)
    }
  }
  return imported
}

/** A way from a folder back to itself. */
function findCircle(imported: ReadonlyMap<string, ReadonlySet<string>>): string[] | undefined {
  const done = new Set<string>()
  const walk = (folder: string, way: readonly string[]): string[] | undefined => {
    if (way.includes(folder)) return [...way.slice(way.indexOf(folder)), folder]
    if (done.has(folder)) return undefined
    for (const target of imported.get(folder) ?? []) {
      const circle = walk(target, [...way, folder])
      if (circle !== undefined) return circle
    }
    done.add(folder)
    return undefined
  }
  for (const folder of imported.keys()) {
    const circle = walk(folder, [])
    if (circle !== undefined) return circle
  }
  return undefined
}

describe('the folders of the sources', () => {
  it('import in no circle, parents and children included', () => {
    expect(findCircle(importedFolders())).toBeUndefined()
  })
})
