// Package siteview holds the pages that belong to no feature.
package siteview
