import { redactInline } from './inline-secrets.js'

/** A text for people, such as a query or an error, without what is a secret in it by its form: credentials in URLs, tokens, `password=…`. */
export function redactWords(text: string): string {
  return redactInline(text)?.text ?? text
}
