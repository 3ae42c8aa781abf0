import { AppError } from '../../errors/app-error.js'

/** This many digits are exact in a number, and more than any store gives out. */
const NUMBER = /^\d{1,15}$/

/** The number by which a path names something: digits, and from 1 on, as the stores give them out. Undefined for anything else. */
export function readPathNumber(text: string | undefined): number | undefined {
  if (text === undefined || !NUMBER.test(text)) return undefined
  const number = Number(text)
  return number === 0 ? undefined : number
}

/** The same where there must be one. Raises `not_found`, since nothing has such a number; `what` is a phrase like "approval gate". */
export function requirePathNumber(text: string | undefined, what: string): number {
  const number = readPathNumber(text)
  if (number !== undefined) return number
  throw new AppError(
    'not_found',
    `there is no ${what} "${text ?? ''}": its number is a whole number from 1 on`,
  )
}
