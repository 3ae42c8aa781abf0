import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { z } from 'zod'

import { AppError, hasErrorCode, toError } from '../../errors/app-error.js'

const CAPABILITIES_FILE = 'capabilities.json'
const Content = z.looseObject({ builtins: z.array(z.looseObject({ name: z.string() })) })

/**
 * A capabilities file of OPA, which lists the built-in functions and features that policies may
 * use.
 */
export interface Capabilities {
  readonly file: string
  readonly text: string
  /** The names of the built-in functions that the file allows. */
  readonly builtins: readonly string[]
}

/**
 * Reads a capabilities file. Raises `invalid` if it is missing, is not JSON, or lists no built-ins.
 */
export async function readCapabilities(file: string): Promise<Capabilities> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    const reason = hasErrorCode(cause, 'ENOENT') ? 'not found' : `cannot be read (${toError(cause).message})`
    throw new AppError('invalid', `capabilities file ${file} ${reason}. Check policies.capabilities`, {
      cause,
    })
  })
  return { file, text, builtins: parseCapabilities(file, text).builtins.map(({ name }) => name) }
}

/** Parses capabilities. Raises `invalid`, naming `source`, for other JSON. */
export function parseCapabilities(source: string, text: string): z.infer<typeof Content> {
  try {
    return Content.parse(JSON.parse(text))
  } catch (cause) {
    const reason = cause instanceof SyntaxError ? `is not JSON (${cause.message})` : 'lists no "builtins"'
    throw new AppError(
      'invalid',
      `capabilities file ${source} ${reason}. Make one with \`opa capabilities --current\``,
      { cause },
    )
  }
}

/**
 * Writes capabilities to a directory and returns the flags of `opa` for them; none without
 * capabilities.
 */
export async function capabilityFlags(
  directory: string,
  capabilities: Pick<Capabilities, 'text'> | undefined,
): Promise<string[]> {
  if (capabilities === undefined) return []
  const file = join(directory, CAPABILITIES_FILE)
  await writeFile(file, capabilities.text)
  return ['--capabilities', file]
}
