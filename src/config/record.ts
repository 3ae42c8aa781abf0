export { isRecord } from '../lib/record.js'
