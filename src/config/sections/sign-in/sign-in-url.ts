import { z } from 'zod'

import { key } from '../../values/key.js'
import { isServerUrl, SERVER_URL_TEXT } from '../../values/server-url.js'

/**
 * A URL for sign-in. Returns a new schema each time, because descriptions are registered by schema.
 */
export function signInUrl(description: string) {
  return key(z.string().refine(isServerUrl), description, SERVER_URL_TEXT, { isHidden: true })
}
