import type { z } from 'zod'

import { AppError } from '../../errors/app-error.js'
import { withLimitMessage } from '../exchange/body-errors.js'
import type { Exchange } from '../exchange/exchange.js'
import type { BodyReader } from './body-reader.js'
import { isSameText } from '../../lib/text/same-text.js'
import { parseQuery } from './parse-query.js'

const FORM_TYPE = 'application/x-www-form-urlencoded'
/** A comment of 4,000 characters is at most 36 KB, each of its bytes escaped; a template 256 KiB. */
const MAX_BYTES = 1024 * 1024

/** The field of every form that says whose page it is on. */
export const FORM_TOKEN = 'formToken'

/** The fields of a form of ours, as a schema reads them; raises `forbidden` for a form that is not of the caller's own page. */
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
          'this form is of a session that has ended, or of another page: load the page again and send it once more',
          { code: 'form_out_of_date' },
        )
      }
      return parseQuery(schema, fields)
    },
  }
}

type Fields = Readonly<Record<string, string>>

/** What was sent, for whoever answers that it cannot be carried out: a body is read once. */
const sentForms = new WeakMap<Exchange, Promise<Fields>>()

/** The fields of a form; of a repeated one the last. Raises `unsupported_media_type`, `too_large`. */
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
      `a form is sent as ${FORM_TYPE}, not as ${type ?? 'nothing'}`,
    )
  }
  const bytes = await withLimitMessage(
    exchange.readBytes(MAX_BYTES),
    `the form is over the limit of ${MAX_BYTES} bytes`,
  )
  return Object.fromEntries(new URLSearchParams(bytes.toString('utf8')))
}
