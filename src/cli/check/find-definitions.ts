import { readdir, stat } from 'node:fs/promises'
import { basename, extname, join, resolve } from 'node:path'

import { AppError } from '../../errors/app-error.js'
import { STDIN, isDinghyfile, unreadableFile } from '../input/read-document.js'

/** Extensions of files that may contain definitions of pipelines, applications and the like. */
const EXTENSIONS = ['.json', '.yaml', '.yml']

const CONFIGURATION = /^tidegate\.(?:json|ya?ml)$/

/** Returns whether a file has the name of a configuration file. */
export function isConfiguration(file: string): boolean {
  return CONFIGURATION.test(basename(file))
}

/** Returns whether a file may contain definitions, by its name. */
export function isDefinitionFile(file: string, extensions: readonly string[] = EXTENSIONS): boolean {
  return extensions.includes(extname(file).toLowerCase()) || (extensions === EXTENSIONS && isDinghyfile(file))
}

interface Search {
  readonly extensions?: readonly string[]
  /** Absolute paths of files that are not definitions, such as data of policies. */
  readonly others?: ReadonlySet<string>
  /** Receives each hidden entry and each of `others` that is left out. */
  readonly skipped?: (path: string) => void
}

/**
 * Returns the files to check: the file itself (or `-`), or all dinghyfiles and files with these
 * extensions under a directory in a stable order, without hidden files, `node_modules` and
 * configuration files. Links to files are followed, links to directories are not. Raises `invalid`
 * for an unreadable path and a directory without such files.
 */
export async function findDefinitions(path: string, search: Search = {}): Promise<string[]> {
  if (path === STDIN || !(await isDirectory(path))) return [path]
  const { extensions = EXTENSIONS, others = new Set(), skipped = () => undefined } = search
  const files = await listBelow(path, { extensions, others, skipped })
  if (files.length === 0) {
    const names = extensions.map((extension) => `*${extension}`).join(' or ')
    throw new AppError('invalid', `${path}: this directory contains no ${names}`)
  }
  return files.sort()
}

async function listBelow(directory: string, search: Required<Search>): Promise<string[]> {
  const files: string[] = []
  for (const entry of await listEntries(directory)) {
    const path = join(directory, entry.name)
    const isDefinition = isDefinitionFile(path, search.extensions)
    if (entry.name === 'node_modules') continue
    if (entry.name.startsWith('.') || isConfiguration(path) || search.others.has(resolve(path))) {
      if (isDefinition || entry.isDirectory()) search.skipped(path)
    } else if (entry.isDirectory()) files.push(...(await listBelow(path, search)))
    else if (isDefinition && (entry.isFile() || (entry.isSymbolicLink() && !(await isLinkedFolder(path)))))
      files.push(path)
  }
  return files
}

async function listEntries(directory: string) {
  try {
    return await readdir(directory, { withFileTypes: true })
  } catch (raw) {
    throw unreadableFile(directory, raw)
  }
}

/** A broken link counts as a file: reading it reports the error. */
async function isLinkedFolder(path: string): Promise<boolean> {
  return await isDirectory(path).catch(() => false)
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch (raw) {
    throw unreadableFile(path, raw)
  }
}
