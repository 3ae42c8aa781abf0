import type { Command } from 'commander'
import { z } from 'zod'

import {
  ExceptionBook,
  NEEDS_APPLICATION,
  hasApplication,
  verdictPackages,
} from '../../enforcement/exceptions/exception-book.js'
import { AppError } from '../../errors/app-error.js'
import type { ErrorDetail } from '../../errors/app-error.js'
import { readIsoTime } from '../../lib/clocks/iso-time.js'
import { nearestName, suggestion } from '../../lib/text/nearest-name.js'
import { readBySchema } from '../../lib/validation/read-by-schema.js'
import type { Snapshot } from '../../rego/index.js'
import type { PolicyException } from '../../store/ports/exception-store.js'
import type { Terminal } from '../session/terminal.js'
import { readDocument } from './read-document.js'

export interface ExceptionOptions {
  readonly exceptions?: string
}

/** The exceptions of a file. */
export interface ReadExceptions {
  readonly file: string
  readonly all: readonly PolicyException[]
}

const text = z.string().trim().min(1)
/** An exception as the service lists it, or as a person writes it. */
const Listed = z
  .strictObject({
    id: z.int().optional(),
    package: text.transform((written) => written.replace(/^data\./, '')),
    application: text.optional(),
    pipeline: text.optional(),
    reason: text,
    owner: z.string().default('the file'),
    until: z
      .string()
      .transform((written) => (/^\d{4}-/.test(written) ? readIsoTime(written, 'utc') : Number.NaN))
      .refine(Number.isFinite, 'must be a date such as 2027-01-31 or an ISO 8601 time'),
    state: z.enum(['pending', 'active', 'ended']).optional(),
    createdAt: text.optional(),
    approver: text.optional(),
    approvedAt: text.optional(),
  })
  .refine(hasApplication, NEEDS_APPLICATION)
const Exceptions = z.strictObject({ exceptions: z.array(Listed), nextCursor: z.string().optional() })

/** Adds the flag for exceptions. */
export function addExceptionsOption(command: Command): Command {
  return command.option(
    '--exceptions <file>',
    'exceptions to apply: the output of tidegate exceptions list --format json, or a list in YAML; - for standard input',
  )
}

/**
 * Reads the exceptions of `--exceptions`. Those that the service lists as pending or ended do not
 * apply. Raises `invalid` with every problem of the file.
 */
export async function readExceptions(
  { exceptions: file }: ExceptionOptions,
  terminal: Terminal,
): Promise<ReadExceptions> {
  if (file === undefined) return { file: '', all: [] }
  const document: unknown = JSON.parse(Buffer.from(await readDocument(file, terminal)).toString())
  const listed = Array.isArray(document) ? { exceptions: document } : document
  const { exceptions, nextCursor } = readBySchema(Exceptions, listed, {
    name: file,
    code: 'invalid_exception',
  })
  if (nextCursor !== undefined)
    throw new AppError('invalid', `${file}: more exceptions follow. List all of them with --limit 1000.`)
  const applied = exceptions.filter(({ state = 'active' }) => state === 'active')
  return {
    file,
    all: applied.map(
      ({ id, package: name, application, pipeline, reason, owner, until: untilMs }, index) => ({
        ...{ id: id ?? index + 1, package: name, application, pipeline, reason, owner },
        ...{ untilMs, createdMs: 0, needsApproval: false },
      }),
    ),
  }
}

/** Returns the exceptions for the evaluation. */
export function bookOf({ all }: ReadExceptions): ExceptionBook {
  const book = new ExceptionBook()
  book.replace(all)
  return book
}

/** Returns exceptions that do nothing: for packages without a verdict, and after their end. */
export function exceptionProblems({ file, all }: ReadExceptions, snapshot: Snapshot): ErrorDetail[] {
  const names = verdictPackages(snapshot)
  return all.flatMap(({ package: name, untilMs }) => {
    if (!names.includes(name))
      return {
        code: 'unknown_package',
        message: `${file}: no loaded package ${name} has a verdict, so its exception does nothing${suggestion(nearestName(name, names))}`,
      }
    if (untilMs > Date.now()) return []
    const end = new Date(untilMs).toISOString()
    return { code: 'ended_exception', message: `${file}: the exception for ${name} ended at ${end}` }
  })
}
