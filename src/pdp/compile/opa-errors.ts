import { z } from 'zod'

import { AppError } from '../../errors/app-error.js'
import type { ErrorDetail } from '../../errors/app-error.js'
import type { OpaRun } from '../opa/run-opa.js'

const OpaErrors = z.object({
  errors: z.array(
    z.object({
      message: z.string(),
      code: z.string().optional(),
      location: z.object({ file: z.string(), row: z.number(), col: z.number() }).optional(),
    }),
  ),
})

/** `a.rego:3: rego_parse_error: text`, as `opa build` prints it: no column. */
const PRINTED_ERROR =
  /^(?:\d+ errors? occurred:\s*)?(?<file>.+?\.rego):(?<row>\d+): (?<code>rego_\w+): (?<message>.*)$/

/** An `invalid` error for modules that do not compile, in OPA's shape. */
export function compileError(details: readonly ErrorDetail[]): AppError {
  return new AppError('invalid', 'error(s) occurred while compiling module(s)', { details })
}

/**
 * The errors in what the `opa` program printed: the JSON of `--format json`, else the text of `opa build`. `toSource`
 * turns the file name that OPA saw into the one that a person knows.
 */
export function readOpaErrors(run: OpaRun, toSource: (file: string) => string): ErrorDetail[] {
  const structured = parseStructured(run.stdout) ?? parseStructured(run.stderr)
  return (
    structured?.map((detail) => withSource(detail, toSource)) ??
    parsePrinted(run.stderr || run.stdout, toSource)
  )
}

function parseStructured(text: string): ErrorDetail[] | undefined {
  if (!text.trimStart().startsWith('{')) return undefined
  try {
    const { errors } = OpaErrors.parse(JSON.parse(text))
    return errors.map(({ message, code = 'opa_error', location }) => ({
      code,
      message,
      ...(location === undefined ? {} : { location }),
    }))
  } catch {
    return undefined
  }
}

function withSource(detail: ErrorDetail, toSource: (file: string) => string): ErrorDetail {
  const { location } = detail
  return location === undefined
    ? detail
    : { ...detail, location: { ...location, file: toSource(location.file) } }
}

function parsePrinted(text: string, toSource: (file: string) => string): ErrorDetail[] {
  const lines = text.replace(/^error: /, '').split('\n')
  const located = lines.flatMap((line) => {
    const groups = PRINTED_ERROR.exec(line.trim())?.groups
    if (groups === undefined) return []
    const { file = '', row = '0', code = '', message = '' } = groups
    return [{ code, message, location: { file: toSource(file), row: Number(row), col: 0 } }]
  })
  return located.length > 0 ? located : [{ code: 'opa_error', message: text.replace(/^error: /, '').trim() }]
}
