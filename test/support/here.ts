/**
 * The address on which stand-ins and databases of tests listen: loopback, or the one by which the hosts of
 * `npm run drill:cluster` reach this one.
 */
export const HERE = process.env.TURNPIKE_DRILL_HUB ?? '127.0.0.1'
