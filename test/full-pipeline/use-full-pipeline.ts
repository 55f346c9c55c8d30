/** Imported before a suite of money, runs it through every module of the package. */
process.env.TURNPIKE_DRILL_PIPELINE = 'full'
