import { AppError } from '../../errors.js'

/** A numeric id in a path. Raises `invalid` for anything but digits. */
export function pathId(text: string | undefined, name: string): number {
  if (text !== undefined && /^\d{1,15}$/.test(text)) return Number(text)
  throw new AppError('invalid', `${name} must be a whole number, not "${text ?? ''}"`)
}
