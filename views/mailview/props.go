package mailview

import "strconv"

// days says a number of hours in words.
func days(hours int) string {
	switch {
	case hours == 24:
		return "a day"
	case hours >= 48:
		return strconv.Itoa(hours/24) + " days"
	}
	return strconv.Itoa(hours) + " hours"
}
