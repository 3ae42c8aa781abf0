import { z } from 'zod'

import { AppError } from '../../errors/app-error.js'
import { withLimitMessage } from '../exchange/body-errors.js'
import type { Exchange } from '../exchange/exchange.js'
import type { BodyReader } from './body-reader.js'
import { isSameText } from '../../lib/text/same-text.js'
import { parseQuery } from './parse-query.js'

const FORM_TYPE = 'application/x-www-form-urlencoded'
/** A comment of 4,000 characters needs at most 36 KB when escaped, and a template 256 KiB. */
const MAX_BYTES = 1024 * 1024

/** A text of several lines. Browsers send two characters for a line break and count one. */
export const Lines = z.string().overwrite((text) => text.replaceAll('\r\n', '\n'))

/** The field with the CSRF token. */
export const FORM_TOKEN = 'formToken'

/**
 * Reads the fields of a form by a schema. Raises `forbidden` if the CSRF token is not the caller's.
 */
export function formBody<D, S extends z.ZodType>(schema: S): BodyReader<D, z.output<S>> {
  return {
    schema,
    types: [FORM_TYPE],
    read: async (exchange) => {
      const { [FORM_TOKEN]: given, ...fields } = await readForm(exchange)
      const { formToken } = exchange.caller
      if (formToken === undefined || given === undefined || !isSameText(formToken, given)) {
        throw new AppError(
          'forbidden',
          'This form belongs to an ended session or another page. Reload the page and submit it again.',
          { code: 'form_out_of_date' },
        )
      }
      return parseQuery(schema, fields)
    },
  }
}

type Fields = Readonly<Record<string, string>>

/** Fields of forms that were read. An error page needs them again, and a body is read only once. */
const sentForms = new WeakMap<Exchange, Promise<Fields>>()

/**
 * Reads the fields of a form; the last of repeated fields counts. Raises `unsupported_media_type`
 * and `too_large`.
 */
export function readForm(exchange: Exchange): Promise<Fields> {
  const known = sentForms.get(exchange)
  if (known !== undefined) return known
  const fields = readFields(exchange)
  sentForms.set(exchange, fields)
  return fields
}

async function readFields(exchange: Exchange): Promise<Fields> {
  const type = exchange.header('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== FORM_TYPE) {
    throw new AppError(
      'unsupported_media_type',
      `a form must be sent as ${FORM_TYPE}, not as ${type ?? 'an unknown type'}`,
    )
  }
  const bytes = await withLimitMessage(exchange.readBytes(MAX_BYTES), `the form exceeds ${MAX_BYTES} bytes`)
  return Object.fromEntries(new URLSearchParams(bytes.toString('utf8')))
}
