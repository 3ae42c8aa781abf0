import { randomBytes } from 'node:crypto'

const BYTES = 32

/** A text that nobody guesses. */
export function randomToken(): string {
  return randomBytes(BYTES).toString('base64url')
}
