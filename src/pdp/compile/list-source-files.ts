import { readdir, stat } from 'node:fs/promises'
import type { Stats } from 'node:fs'
import { basename, join } from 'node:path'

import { AppError, toError } from '../../errors/app-error.js'

const DATA_FILES: readonly string[] = ['data.json', 'data.yaml', 'data.yml']
const MAYBE_DATA = /\.(?:json|ya?ml)$/

/** A file that policies are read from. */
export interface SourceFile {
  readonly file: string
  /** Another text as soon as it is another file, or was written, replaced or renamed. */
  readonly version: string
}

/** Whether a file of this name holds base documents. */
export function isDataFile(file: string): boolean {
  return DATA_FILES.includes(basename(file))
}

/** Whether a change of this file can change what policies are made of. */
export function isSourceFile(file: string): boolean {
  return file.endsWith('.rego') || isDataFile(file)
}

/** What there is below a path. */
export interface SourceTree {
  /** The Rego and data files, sorted, so that compiling the same tree twice gives the same module. */
  readonly sources: readonly SourceFile[]
  /** What OPA would read of the same directory: hidden Rego, and JSON and YAML of other names than those of data. */
  readonly passedOver: readonly string[]
}

/**
 * Looks through a directory; a path that is a file is taken whatever its name. Hidden files and `node_modules` are left out. Raises
 * `invalid` for what cannot be read, is no regular file, or leads back to a directory above it.
 */
export async function listSourceTree(path: string): Promise<SourceTree> {
  const found = await listBelow(path, new Set(), true)
  return {
    sources: found.filter((entry) => typeof entry !== 'string'),
    passedOver: found.filter((entry) => typeof entry === 'string'),
  }
}

/** The Rego and data files at or below a path. Raises as `listSourceTree`. */
export async function listSourceFiles(path: string): Promise<readonly SourceFile[]> {
  return (await listSourceTree(path)).sources
}

/** A file that is read, or the path of one that is not. */
type Found = SourceFile | string

async function listBelow(path: string, above: ReadonlySet<string>, isRoot: boolean): Promise<Found[]> {
  try {
    const found = await stat(path)
    if (found.isDirectory()) return await listDirectory(path, found, above)
    if (!isRoot && !isSourceFile(path)) return found.isFile() && MAYBE_DATA.test(path) ? [path] : []
    if (found.isFile()) return [{ file: path, version: versionOf(found) }]
    throw new AppError('invalid', `read policies: ${path} is neither a file nor a directory`)
  } catch (raw) {
    throw unreadable(path, raw)
  }
}

async function listDirectory(path: string, found: Stats, above: ReadonlySet<string>): Promise<Found[]> {
  const identity = `${found.dev}:${found.ino}`
  if (above.has(identity)) {
    throw new AppError('invalid', `read policies: ${path} is a link to a directory above it`)
  }
  const entries = await readdir(path)
  const visible = entries.filter((name) => !name.startsWith('.') && name !== 'node_modules').sort()
  const hidden = entries.filter((name) => name.startsWith('.') && name.endsWith('.rego')).sort()
  const within = new Set([...above, identity])
  const nested = await Promise.all(visible.map((name) => listBelow(join(path, name), within, false)))
  return [...nested.flat(), ...hidden.map((name) => join(path, name))]
}

function versionOf({ dev, ino, size, mtimeMs, ctimeMs }: Stats): string {
  return `${dev}:${ino} ${size} ${mtimeMs} ${ctimeMs}`
}

/** What was raised when a file or directory of policies was read, as an AppError that names it. */
export function unreadable(path: string, raw: unknown): AppError {
  return raw instanceof AppError
    ? raw
    : new AppError('invalid', `read policies: ${toError(raw).message}`, { cause: { path, raw } })
}
