import { z } from 'zod'

const NAME = /^\P{Cc}*$/u
const TEXT = /^[\P{Cc}\t\r\n]*$/u

/** Schema of a name that a caller chooses. Control characters would be invisible, and stores refuse some. */
export function writtenName(maxLength: number): z.ZodString {
  return z.string().min(1).max(maxLength).regex(NAME, 'must not contain control characters')
}

/** Schema of a text of several lines, without other control characters. */
export function writtenText(maxLength: number): z.ZodString {
  return z
    .string()
    .max(maxLength)
    .regex(TEXT, 'must not contain control characters other than line breaks and tabs')
}
