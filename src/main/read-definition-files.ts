import { readFile, readdir } from 'node:fs/promises'
import { join, parse } from 'node:path'
import { parseDocument } from '../analysis/runs/parse-document.js'
import { AppError, toError } from '../errors.js'

/** How one application is analysed, as a file says it; the file is named after the application. */
export interface DefinitionFile {
  readonly application: string
  readonly document: unknown
}

const EXTENSIONS = new Set(['.json', '.yaml', '.yml'])

/** The definitions in a directory, one file an application. Raises `invalid` naming a file that cannot be read. */
export async function readDefinitionFiles(directory: string | undefined): Promise<readonly DefinitionFile[]> {
  if (directory === undefined) return []
  const names = await readOrRefuse(directory, () => readdir(directory))
  const files = names.map((name) => parse(name)).filter(({ ext }) => EXTENSIONS.has(ext))
  return await Promise.all(
    files.map(async ({ name, base }) => {
      const path = join(directory, base)
      return {
        application: name,
        document: await readOrRefuse(path, async () => parseDocument(await readFile(path, 'utf8'))),
      }
    }),
  )
}

async function readOrRefuse<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (raw) {
    throw new AppError('invalid', `analysis.definitions: ${path}: ${toError(raw).message}`, { cause: raw })
  }
}
