import { z } from 'zod'

import { key } from '../../values/key.js'
import { isServerUrl, SERVER_URL_TEXT } from '../../values/server-url.js'

/** Where credentials come from: a new key each time, since descriptions are kept by schema. */
export function signInUrl(description: string) {
  return key(z.string().refine(isServerUrl), description, SERVER_URL_TEXT, { isHidden: true })
}
