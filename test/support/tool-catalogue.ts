import type { JsonObject } from './json.ts'

/** Names of servers, and of their tools: `verb_thing`, then its description. */
const SERVERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  github: {
    create_issue: 'Create a new issue in a repository.',
    list_commits: 'List the commits of a branch.',
    merge_pull_request: 'Merge a pull request into its base branch.',
    search_code: 'Search source code across repositories.',
    fork_repository: 'Fork a repository into an account.',
  },
  weather: {
    get_forecast: 'Get the weather forecast of the coming days.',
    get_alerts: 'Get storm and flood alerts of a region.',
    current_temperature: 'Read the outside temperature of a place.',
    get_humidity: 'Read the humidity of the air.',
    get_air_quality: 'Read how clean the air is.',
  },
  travel: {
    book_flight: 'Book a flight between two airports.',
    cancel_booking: 'Cancel a booked flight and refund it.',
    find_hotels: 'Find hotels with free rooms in a city.',
    rent_car: 'Rent a car for some days.',
    get_visa_rules: 'Tell which passports need a visa.',
  },
  ledger: {
    create_invoice: 'Create an invoice for a customer.',
    record_payment: 'Record that an invoice was paid.',
    profit_report: 'Report revenue, costs and profit of a month.',
    list_accounts: 'List the accounts of the books.',
    close_year: 'Close the books of a fiscal year.',
  },
  kitchen: {
    find_recipe: 'Find a recipe by its ingredients.',
    plan_meals: 'Plan the meals of a week.',
    convert_units: 'Convert spoons and cups to grams.',
    suggest_wine: 'Suggest a wine for a dish.',
    oven_times: 'Tell how long a dish is baked.',
  },
  media: {
    transcode_video: 'Transcode a video into another format.',
    trim_audio: 'Cut silence from a sound recording.',
    resize_image: 'Resize a picture to a given width.',
    list_albums: 'List the albums of an artist.',
    play_song: 'Play a song on a loudspeaker.',
  },
  clinic: {
    book_appointment: 'Book an appointment with a doctor.',
    list_prescriptions: 'List the medicines of a patient.',
    read_lab_report: 'Read the blood values of a patient.',
    find_specialist: 'Find a specialist for a disease.',
    vaccination_status: 'Tell which vaccinations a patient has had.',
  },
  garden: {
    water_plants: 'Water the plants of a bed.',
    soil_moisture: 'Measure how wet the soil is.',
    plant_calendar: 'Tell when a vegetable is sown.',
    pest_advice: 'Advise what helps against lice and snails.',
    order_seeds: 'Order seeds and bulbs.',
  },
}

const PROSE =
  'Use it whenever a person asks for this, in whatever words. It answers within a second, may be called several times, ' +
  'and gives an error that says what was expected when an argument is missing, out of range or of the wrong kind.'

/** Builds forty tools of eight MCP servers, wordy as such tools are: some 11,000 tokens together. */
export function toolCatalogue(): JsonObject[] {
  return Object.entries(SERVERS).flatMap(([server, tools]) =>
    Object.entries(tools).map(([name, summary]) => toTool(`mcp__${server}__${name}`, summary)),
  )
}

/** Builds a tool with a sentence of meaning and much prose. */
export function toTool(name: string, summary: string, extra: JsonObject = {}): JsonObject {
  return {
    name,
    description: `${summary} ${PROSE}`,
    input_schema: {
      type: 'object',
      title: 'Arguments',
      properties: {
        subject: { type: 'string', description: `What this is about. ${PROSE}` },
        limit: { type: 'integer', description: `How many results at most. ${PROSE}`, minimum: 1 },
        detail: { type: 'string', enum: ['short', 'full'], description: 'How much is told of each result.' },
      },
      required: ['subject'],
    },
    ...extra,
  }
}
