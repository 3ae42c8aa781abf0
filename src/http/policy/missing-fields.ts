export { missingFields } from '../../lib/missing-fields.js'
